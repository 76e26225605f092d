/** Validates the combination of auth settings and the names under which a credential may be sent. Pure. */
import { InvalidInput } from '../../domain/errors.js';
import { isReservedHeader } from '../catalogue/reserved-headers.js';
import type { AuthType } from './custom-provider.js';

export interface AuthSettings {
  readonly authType: AuthType;
  readonly authName: string | null;
  readonly authPrefix: string | null;
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const QUERY_NAME = /^[A-Za-z0-9._~[\]-]{1,100}$/;
const PREFIX = /^[\x20-\x7e]{1,64}$/;

/** Throws {@link InvalidInput} that names the field. */
export function checkAuthSettings({ authType, authName, authPrefix }: AuthSettings): void {
  const named = authType === 'header' || authType === 'query';
  if (!named && authName !== null)
    throw new InvalidInput(`authName does not go with authType ${authType}: leave it out`);
  if (named && authName === null) throw new InvalidInput(`authName is required for authType ${authType}`);
  if (authType === 'query' && !QUERY_NAME.test(authName!)) {
    throw new InvalidInput('authName must be the name of a query parameter: letters, digits and . _ ~ - [ ]');
  }
  if (authType === 'header') checkHeaderName(authName!);
  if (authPrefix === null) return;
  if (authType !== 'header') throw new InvalidInput(`authPrefix does not go with authType ${authType}: leave it out`);
  if (!PREFIX.test(authPrefix)) throw new InvalidInput('authPrefix must be 1 to 64 printable ASCII characters');
}

function checkHeaderName(name: string): void {
  if (!HEADER_NAME.test(name)) throw new InvalidInput('authName must be the name of a header, such as X-Api-Token');
  if (isReservedHeader(name)) {
    throw new InvalidInput(`authName cannot be ${name}: that header is not free for credentials`);
  }
}
