/** Domain errors. They carry a stable code and a message for the user, and are independent of HTTP. */

export type ErrorCode =
  | 'invalid_input'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_many_attempts';

export abstract class AppError extends Error {
  abstract readonly code: ErrorCode;
  /** Fields for programs that the response carries beside `error`. */
  readonly details: Readonly<Record<string, boolean | number | string>> = {};
}

/** The message names the field and says what is valid. */
export class InvalidInput extends AppError {
  readonly code = 'invalid_input';
}

export class Unauthenticated extends AppError {
  readonly code = 'unauthenticated';
}

/** An invitation link proves only the mailbox. The owner of the existing account must also prove to accept it. */
export class AccountAlreadyExists extends AppError {
  readonly code = 'unauthenticated';
  override readonly details = { existing: true };
}

/** A login needs the code of the account's second factor beside the password. */
export class SecondFactorRequired extends AppError {
  readonly code = 'unauthenticated';
  override readonly details = { secondFactor: true };
}

/** The session must be confirmed with a code of the second factor before this request. */
export class ConfirmationRequired extends AppError {
  readonly code = 'forbidden';
  override readonly details = { secondFactor: true };
}

export class Forbidden extends AppError {
  readonly code = 'forbidden';
}

export class NotFound extends AppError {
  readonly code = 'not_found';
  /** `what` is the name of the resource, e.g. `agent`. */
  constructor(what: string) {
    super(`no such ${what}`);
  }
}

export class Conflict extends AppError {
  readonly code = 'conflict';
}

/** The same request is in progress; its response will be available shortly. */
export class RequestInProgress extends AppError {
  readonly code = 'conflict';
  readonly retryAfterSeconds = 1;
  constructor() {
    super('a call with this Idempotency-Key is still running: retry in a second');
  }
}

export class TooManyAttempts extends AppError {
  readonly code = 'too_many_attempts';
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
  ) {
    super(message);
  }
}

const QUEUE_RETRY_AFTER_S = 5;

/** The error for work that a full queue rejects. `subject`: what waits there, in the plural. */
export const createQueueFullError = (subject: string): TooManyAttempts =>
  new TooManyAttempts(`too many ${subject} at once: try again`, QUEUE_RETRY_AFTER_S);
