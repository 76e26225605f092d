/**
 * The path to return to after logging in. Accepts only paths of this site, because the link may come from an attacker.
 */
export const signInPath = (wanted: string): string =>
  wanted === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(wanted)}`;

export function parseReturnPath(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}
