/** Formats variables for a shell, a dotenv file or a program. */

export const ENV_FORMATS = ['sh', 'fish', 'dotenv', 'json'] as const;
export type EnvFormat = (typeof ENV_FORMATS)[number];

interface VariableChanges {
  readonly added: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
}

/** Valid variable names of shells. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function formatVariables({ added, removed }: VariableChanges, format: Exclude<EnvFormat, 'json'>): string {
  const set = Object.entries(added);
  const unset = removed.filter((name) => VARIABLE_NAME.test(name) && !Object.hasOwn(added, name));
  if (format === 'dotenv') return set.map(([name, value]) => `${name}=${quoteDotenv(value)}`).join('\n');
  if (format === 'fish') {
    const lines = set.map(([name, value]) => `set -gx ${name} ${quoteFish(value)};`);
    return [...unset.map((name) => `set -e ${name};`), ...lines].join('\n');
  }
  return [
    ...unset.map((name) => `unset ${name}`),
    ...set.map(([name, value]) => `export ${name}=${quoteSh(value)}`),
  ].join('\n');
}

const quoteSh = (value: string): string => `'${value.replaceAll("'", "'\\''")}'`;
const quoteFish = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const quoteDotenv = (value: string): string =>
  /^[\w@%+=:,./-]*$/.test(value) ? value : value.includes("'") ? JSON.stringify(value) : `'${value}'`;
