/** Why a request is refused, or ends, before its handler could answer it. */

export class RequestFault extends Error {
  /** The status to answer with: 400, 408 or 431; 500 where the handler's own answer could not be sent. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
