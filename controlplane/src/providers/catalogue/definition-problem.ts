/** What checks of provider definitions report, and the templates that they look at. */
import type { InjectionRule } from './provider-definition.js';

export interface Problem {
  /** JSON pointer of the value. */
  readonly pointer: string;
  readonly message: string;
}

export type Report = (pointer: string, message: string) => void;

/** Every template of a rule. */
export const listInjectionTemplates = ({ value, path, basic, sigv4 }: InjectionRule): string[] =>
  [
    value,
    path,
    basic?.username,
    basic?.password,
    sigv4?.accessKeyId,
    sigv4?.secretAccessKey,
    sigv4?.sessionToken,
    sigv4?.region,
  ].filter((template) => template !== undefined);
