/** Errors of SCIM (RFC 7644 §3.12). `scimType` tells a directory which rule the request broke. */
import { AppError, type ErrorCode } from '../../domain/errors.js';

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'uniqueness';

export class ScimProblem extends AppError {
  override readonly details: { readonly scimType: ScimType };

  constructor(
    readonly code: ErrorCode,
    scimType: ScimType,
    message: string,
  ) {
    super(message);
    this.details = { scimType };
  }
}

export const invalidValue = (message: string): ScimProblem => new ScimProblem('invalid_input', 'invalidValue', message);
export const invalidFilter = (message: string): ScimProblem =>
  new ScimProblem('invalid_input', 'invalidFilter', message);
export const notUnique = (message: string): ScimProblem => new ScimProblem('conflict', 'uniqueness', message);

const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Turns an error response of the management API, `{error, …}`, into one of SCIM. */
export function toScimError(status: number, body: unknown): object {
  const { error, scimType } = body as { error?: unknown; scimType?: unknown };
  return {
    schemas: [ERROR_SCHEMA],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: typeof error === 'string' ? error : 'the request failed',
  };
}
