import { SecondFactorRejection } from '../auth/users/auth-schema.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { Deleted, IdParams } from '../http/schema.js';
import { ScimSettings, ScimTokenCreated, ScimTokenInput } from './schema.js';
import type { ScimSettingsService } from './settings-service.js';

export function scimSettingsRoutes(app: App, settings: ScimSettingsService): void {
  app.get(
    '/v1/scim',
    {
      config: { access: 'admin', tokens: false },
      schema: {
        ...operation('Provisioning', 'getScim', 'Get the address, the tokens and the people of the directory'),
        response: { 200: ScimSettings },
      },
    },
    async ({ actor }) => settings.get(actor),
  );
  app.post(
    '/v1/scim/tokens',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation('Provisioning', 'createScimToken', 'Create a SCIM token, which is returned only once'),
        errorStatuses: [409],
        body: ScimTokenInput,
        response: { 201: ScimTokenCreated, 403: SecondFactorRejection },
      },
    },
    async ({ actor, body }, reply) => {
      const { token, secretToken } = await settings.createToken(actor, body.name);
      return reply.code(201).send({ token, secretToken: secretToken.reveal() });
    },
  );
  app.delete(
    '/v1/scim/tokens/:id',
    {
      config: { access: 'owner', tokens: false },
      schema: {
        ...operation('Provisioning', 'deleteScimToken', 'Delete a SCIM token'),
        params: IdParams,
        response: { 200: Deleted },
      },
    },
    async ({ actor, params }) => {
      await settings.deleteToken(actor, params.id);
      return { deleted: true as const };
    },
  );
}
