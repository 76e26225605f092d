/** Domains of e-mail addresses: which of them an organization may verify. Pure. */
import { domainToASCII } from 'node:url';

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?=.{4,253}$)(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$`);
/** Everybody has an address there, so no organization speaks for it. */
const PUBLIC_MAIL_DOMAINS: ReadonlySet<string> = new Set([
  '163.com',
  'aol.com',
  'fastmail.com',
  'gmail.com',
  'gmx.com',
  'gmx.de',
  'gmx.net',
  'googlemail.com',
  'hey.com',
  'hotmail.com',
  'hotmail.co.uk',
  'hotmail.fr',
  'icloud.com',
  'live.com',
  'mac.com',
  'mail.com',
  'mail.ru',
  'me.com',
  'msn.com',
  'outlook.com',
  'outlook.de',
  'pm.me',
  'proton.me',
  'protonmail.com',
  'qq.com',
  't-online.de',
  'tutanota.com',
  'web.de',
  'yahoo.co.uk',
  'yahoo.com',
  'yahoo.de',
  'yahoo.fr',
  'yandex.com',
  'yandex.ru',
  'ymail.com',
  'zoho.com',
]);

/** Returns the domain in lower-case ASCII (IDNA); null when it is none that can be verified. */
export function parseMailDomain(text: string): string | null {
  const domain = domainToASCII(text.trim());
  return DOMAIN.test(domain) ? domain : null;
}

export const isPublicMailDomain = (domain: string): boolean => PUBLIC_MAIL_DOMAINS.has(domain);

/** Returns the domain of an address; null when it has none that can be verified. */
export function mailDomainOf(email: string): string | null {
  const at = email.lastIndexOf('@');
  return at < 1 ? null : parseMailDomain(email.slice(at + 1));
}
