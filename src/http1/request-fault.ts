/** Why a request failed before its handler could answer it. */

export class RequestFault extends Error {
  /** The status of the answer: 400, 408 or 431; 500 if the handler's own response could not be sent. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
