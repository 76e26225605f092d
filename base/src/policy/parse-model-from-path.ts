/** Names that an ARN of Bedrock contains; other resources are known by their whole ARN. */
const MODEL_ARN = /^arn:[a-z-]+:bedrock:[^/]*:(?:foundation-model|inference-profile)\/([^/]+)$/;
const BEFORE_COLON = 'path_before_colon:';

/**
 * The model in the path. `location`: `path:x`, the segment after x; `path_before_colon:x`, the same up to its last
 * colon. Null when there is none, or the path is ambiguous. Only an ARN may contain an encoded slash.
 */
export function parseModelFromPath(providerPath: string, location: string): string | null {
  const before = location.slice(location.indexOf(':') + 1);
  const segments = providerPath.slice(1).split('/');
  const at = segments.indexOf(before);
  const segment = at === -1 ? undefined : segments[at + 1];
  if (segment === undefined || segments.indexOf(before, at + 1) !== -1) return null;
  try {
    const model = decodeURIComponent(segment);
    if (/%/.test(model) || (model.includes('/') && !model.startsWith('arn:'))) return null;
    const colon = location.startsWith(BEFORE_COLON) ? model.lastIndexOf(':') : -1;
    const name = colon < 0 ? model : model.slice(0, colon);
    return (MODEL_ARN.exec(name)?.[1] ?? name) || null;
  } catch {
    return null;
  }
}
