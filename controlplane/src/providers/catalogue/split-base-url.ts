/** Splits `https://host/x/` into the origin and `/x`. */
export function splitBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  const url = new URL(baseUrl);
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}
