import { type Credentials, renderTemplate } from '../providers/catalogue/credential-template.js';
import { MintFailure } from './mint-failure.js';

/** Null: there is no template, or a field of it is missing. */
export const renderOptional = (template: string | undefined, credentials: Credentials): string | null =>
  template === undefined ? null : renderTemplate(template, credentials);

/** Throws {@link MintFailure} when a field is missing. */
export function renderRequired(template: string | undefined, credentials: Credentials): string {
  const value = renderOptional(template, credentials);
  if (value === null) throw new MintFailure('unusable_credentials');
  return value;
}

/** The templates whose fields are all given, by name. */
export const renderAll = (templates: Readonly<Record<string, string>> = {}, credentials: Credentials) =>
  Object.entries(templates).flatMap(([name, template]): [string, string][] => {
    const value = renderOptional(template, credentials);
    return value === null ? [] : [[name, value]];
  });
