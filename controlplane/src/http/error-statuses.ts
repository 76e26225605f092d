/** HTTP status of each domain error code, defined only here (docs/contract.md#management-api). */
import type { ErrorCode } from '../domain/errors.js';

export const HTTP_STATUS_BY_ERROR_CODE: Readonly<Record<ErrorCode, number>> = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many_attempts: 429,
};
