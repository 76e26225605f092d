/** Variables as text that a shell, a dotenv file or a program reads. */

export const FORMATS = ['sh', 'fish', 'dotenv', 'json'] as const;
export type EnvFormat = (typeof FORMATS)[number];

interface Variables {
  readonly added: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
}

/** What shells take for a name. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function variablesAsText({ added, removed }: Variables, format: Exclude<EnvFormat, 'json'>): string {
  const set = Object.entries(added);
  const unset = removed.filter((name) => NAME.test(name) && !Object.hasOwn(added, name));
  if (format === 'dotenv') return set.map(([name, value]) => `${name}=${dotenv(value)}`).join('\n');
  if (format === 'fish') {
    const lines = set.map(([name, value]) => `set -gx ${name} ${fish(value)};`);
    return [...unset.map((name) => `set -e ${name};`), ...lines].join('\n');
  }
  return [...unset.map((name) => `unset ${name}`), ...set.map(([name, value]) => `export ${name}=${sh(value)}`)].join(
    '\n',
  );
}

const sh = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
const fish = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const dotenv = (value: string): string =>
  /^[\w@%+=:,./-]*$/.test(value) ? value : value.includes("'") ? JSON.stringify(value) : `'${value}'`;
