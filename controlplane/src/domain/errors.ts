/** Domain errors. They carry a stable code and a message for the user, and know no HTTP. */

export type ErrorCode =
  | 'invalid_input'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_many_attempts';

export abstract class AppError extends Error {
  abstract readonly code: ErrorCode;
  /** Fields that the answer carries beside `error`, for programs. */
  readonly details: Readonly<Record<string, boolean | number | string>> = {};
}

/** The message names the field and says what would be right. */
export class InvalidInput extends AppError {
  readonly code = 'invalid_input';
}

export class Unauthenticated extends AppError {
  readonly code = 'unauthenticated';
}

/** The link of an invitation proves the address only: the account behind it has to show that it wants this. */
export class AccountAlreadyExists extends AppError {
  readonly code = 'unauthenticated';
  override readonly details = { existing: true };
}

export class Forbidden extends AppError {
  readonly code = 'forbidden';
}

export class NotFound extends AppError {
  readonly code = 'not_found';
  /** `what` is the resource's name, e.g. `agent`. */
  constructor(what: string) {
    super(`no such ${what}`);
  }
}

export class Conflict extends AppError {
  readonly code = 'conflict';
}

/** The same call is under way; its answer will be there shortly. */
export class RequestInProgress extends AppError {
  readonly code = 'conflict';
  readonly retryAfterSeconds = 1;
  constructor() {
    super('a call with this Idempotency-Key is still running: ask again shortly');
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
