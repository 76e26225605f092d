// Reads a service of compose.yaml and inserts the values of an .env file, as compose does: after parsing the YAML.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export function composeService(file, name, values) {
  const text = JSON.stringify(parse(readFileSync(file, 'utf8'), { merge: true }).services[name]);
  const filled = text.replaceAll(/\$\{([A-Z_]+)(:[-?])?\}/g, (_all, variable, rule) => {
    const value = values[variable] ?? '';
    if (rule === ':?' && value === '') throw new Error(`${variable} is needed`);
    return JSON.stringify(value).slice(1, -1);
  });
  return JSON.parse(filled);
}
