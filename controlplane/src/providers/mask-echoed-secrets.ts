/** Masks what an injection sends in texts that a server answers, as data planes mask responses. Pure. */
import { listSecretForms } from '@acg/base/list-secret-forms';
import type { IInjection } from '@acg/proto/messages';

export type MaskText = (text: string) => string;

/** Each character of a secret becomes `*`. */
export function createSecretMask({ header, basic, query, sigv4, secrets }: IInjection): MaskText {
  const userAndPassword = basic
    ? Buffer.from(`${basic.username ?? ''}:${basic.password ?? ''}`).toString('base64')
    : '';
  const sent = [
    header?.secret,
    basic?.password,
    userAndPassword,
    query?.secret,
    sigv4?.sessionToken,
    ...(secrets ?? []),
  ];
  const forms = listSecretForms(...sent.flatMap((secret) => (secret ? [secret, encodeURIComponent(secret)] : [])));
  return (text) => forms.reduce((masked, form) => masked.replaceAll(form, '*'.repeat(form.length)), text);
}
