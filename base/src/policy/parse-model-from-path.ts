/** The model in the path segment after `before`, up to a colon. Null when there is none, or the path is ambiguous. */
export function parseModelFromPath(providerPath: string, before: string): string | null {
  const segments = providerPath.slice(1).split('/');
  const at = segments.indexOf(before);
  const segment = at === -1 ? undefined : segments[at + 1];
  if (segment === undefined || segments.indexOf(before, at + 1) !== -1) return null;
  try {
    const model = decodeURIComponent(segment);
    return /[/%]/.test(model) || model === '' ? null : model.split(':')[0]!;
  } catch {
    return null;
  }
}
