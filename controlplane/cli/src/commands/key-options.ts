/** Where a provider's key comes from: never from an argument. */
import type { Command } from 'commander';
import type { GivenCredentials } from '../api/credentials.js';
import { pair } from './options.js';

export interface KeyOptions {
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyEnv?: string;
  readonly field?: readonly (readonly [string, string])[];
}

const collectPair = (text: string, before: readonly (readonly [string, string])[] = []) => [...before, pair(text)];

export const addKeyOptions = (command: Command): Command =>
  command
    .option('--key-stdin', 'read the key from stdin, or a JSON object of all fields')
    .option('--key-file <file>', 'read it from a file; - for stdin')
    .option('--key-env <name>', 'read it from a variable')
    .option('--field <name=value>', 'what is no secret, e.g. region=us-east-1; repeatable', collectPair);

export const givenKey = ({ keyStdin, keyFile, keyEnv, field = [] }: KeyOptions): GivenCredentials => ({
  stdin: keyStdin,
  file: keyFile,
  env: keyEnv,
  fields: field,
});
