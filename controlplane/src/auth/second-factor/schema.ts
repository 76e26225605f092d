import { type Static, Type } from 'typebox';
import { EXAMPLE_TIMES } from '../../http/examples.js';
import { Body, Timestamp } from '../../http/schema.js';
import { FactorCode } from '../users/auth-schema.js';

export const CodeInput = Body({ code: FactorCode });
export const SecondFactorInput = Body({
  password: Type.String({ maxLength: 256, description: 'The password of the user, required again.' }),
});
export const SecondFactorStatus = Type.Object({
  enabledAt: Type.Union([Timestamp, Type.Null()], { description: 'Null: the account has no second factor.' }),
  recoveryCodesLeft: Type.Integer(),
});
export type SecondFactorStatus = Static<typeof SecondFactorStatus>;
export const SecondFactorSecret = Type.Object({
  secret: Type.String({ description: 'Base32, to type into an authenticator app. Shown once.' }),
  otpauthUrl: Type.String({ description: 'The same for a QR code.' }),
});
export const RecoveryCodes = Type.Object({
  recoveryCodes: Type.Array(Type.String(), { description: 'Shown once. Each works once instead of a code.' }),
});
/** For the API document. */
export const EXAMPLES = {
  'SecondFactorInput.password': 'example password, not in use',
  'SecondFactorSecret.secret': 'example-secret-of-no-account',
  otpauthUrl: 'otpauth://totp/Agent%20Credential%20Gateway:ada%40example.com?secret=example',
  enabledAt: EXAMPLE_TIMES.used,
  recoveryCodesLeft: 10,
  recoveryCodes: ['ABCD-EFGH-IJKL-MNOP'],
};
