/** What the served page says about itself: see the control plane's route of the dashboard. */

const readMetaTag = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** No session cookie came with the request for the page: there is no point in asking who is signed in. */
export const HAS_NO_SESSION_COOKIE = readMetaTag('acg-session') === 'none';

/** The path that the service is published under, e.g. `/gateway`; empty at the root and under the development server. */
export const BASE_PATH = readMetaTag('acg-base').startsWith('/') ? readMetaTag('acg-base') : '';
