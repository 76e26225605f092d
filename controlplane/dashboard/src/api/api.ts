/** The one client of the management API; the session is a cookie that no script can read. */
import { createClient } from '@acg/client/client';
import { BASE_PATH } from './page-facts.js';

export const api = createClient({ baseUrl: BASE_PATH });
