/**
 * Templates of provider files: text with `{field}` where the value of a credential field goes. A template whose field
 * is missing does not apply.
 */
/** Maps field names to values, validated by parse-credentials.ts. */
export type Credentials = Readonly<Record<string, string>>;

const PLACEHOLDER = /\{([a-z][A-Za-z0-9]*)\}/g;

export const listTemplateFields = (template: string): string[] =>
  Array.from(template.matchAll(PLACEHOLDER), ([, name]) => name!);

/** Undefined: the field is missing. `constructor` may be the name of a field. */
export const fieldValue = (credentials: Credentials, name: string): string | undefined =>
  Object.hasOwn(credentials, name) ? credentials[name] : undefined;

/** Null: a field is missing. */
export function renderTemplate(template: string, credentials: Credentials): string | null {
  let missing = false;
  const text = template.replace(PLACEHOLDER, (_all, name: string) => {
    const value = fieldValue(credentials, name);
    missing ||= value === undefined;
    return value ?? '';
  });
  return missing ? null : text;
}

/** The literal text before the first field, and the rest. */
export function splitTemplatePrefix(template: string): readonly [prefix: string, rest: string] {
  const at = template.search(PLACEHOLDER);
  return at === -1 ? [template, ''] : [template.slice(0, at), template.slice(at)];
}

const HOST_LABEL = /^[a-z0-9-]{1,63}$/;

/** Whether the value may be a part of a host name. It cannot end the host or add a label. */
export const isHostPart = (value: string): boolean => HOST_LABEL.test(value);

const KEPT_IN_PATH = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;

/** Percent-encodes what a path segment may not hold (RFC 3986 §3.3). */
export const encodePathSegment = (value: string): string =>
  encodeURIComponent(value).replace(KEPT_IN_PATH, (code) => decodeURIComponent(code));
