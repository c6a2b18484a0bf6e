/** Why a video cannot be found or remixed. */
import { GatewayError } from '../canonical/errors.ts';

export function unknownVideo(id: string): GatewayError {
  return new GatewayError('not_found', `There is no video \`${id}\`: the response that created a video has its id.`, {
    param: 'task_id',
  });
}

export function unfinished(): GatewayError {
  const sentence = 'Only a finished video can be remixed: read its status until it is `completed`.';
  return new GatewayError('conflict', sentence, { param: 'id' });
}

export function noRemix(): GatewayError {
  return new GatewayError('invalid_request', "This video's model cannot remix: create a video with the whole prompt.", {
    param: 'id',
  });
}
