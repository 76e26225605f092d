/** Where somebody wanted to go before they had to sign in. Only addresses of this page: the link may be a stranger's. */
export const signInPath = (wanted: string): string =>
  wanted === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`;

export function parseReturnPath(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}
