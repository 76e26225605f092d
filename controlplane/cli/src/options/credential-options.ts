/** Options for the source of a provider credential. Arguments are never accepted, because `ps` shows them. */
import type { Command } from 'commander';
import type { CredentialInput } from '../api/read-credentials.js';
import { parsePair } from './parse-options.js';

export interface CredentialOptions {
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyEnv?: string;
  readonly field?: readonly (readonly [string, string])[];
}

const appendPair = (text: string, before: readonly (readonly [string, string])[] = []) => [...before, parsePair(text)];

export const addCredentialOptions = (command: Command): Command =>
  command
    .option('--key-stdin', 'read the key from stdin, or a JSON object of all fields')
    .option('--key-file <file>', 'read it from a file; - for stdin')
    .option('--key-env <name>', 'read it from a variable')
    .option('--field <name=value>', 'what is no secret, e.g. region=us-east-1; repeatable', appendPair);

export const toCredentialInput = ({ keyStdin, keyFile, keyEnv, field = [] }: CredentialOptions): CredentialInput => ({
  stdin: keyStdin,
  file: keyFile,
  env: keyEnv,
  fields: field,
});
