/** Public documents of the issuers, and their settings. */
import { NotFound } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { Actor } from '../http/route-access.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Throttle } from '../throttling/throttle.js';
import type { GatewayIssuer } from './gateway-issuer.js';
import { isPublicIssuer, listSetups } from './issuer-setups.js';
import { Discovery, IssuerKeyParams, IssuerPatch, IssuerQuery, IssuerReply, JwkSetReply, OrgParams } from './schema.js';

/** A key is published a day before it signs, so verifiers may keep the documents for five minutes. */
const CACHE_CONTROL = 'public, max-age=300';
const JWKS_PATH = '/jwks.json';
const DISCOVERY_PATH = '/.well-known/openid-configuration';

interface IssuerDependencies {
  readonly issuer: GatewayIssuer;
  readonly catalogue: Catalogue;
  readonly throttle: Throttle;
}

export function issuerRoutes(app: App, { issuer, catalogue, throttle }: IssuerDependencies): void {
  publicRoutes(app, issuer, throttle);
  const present = async ({ orgId }: Pick<Actor, 'orgId'>, agentId: string | null): Promise<IssuerReply> => {
    await issuer.ensureKeys(orgId);
    const subject = agentId === null ? null : await issuer.subjectOf(orgId, agentId);
    if (agentId !== null && subject === null) throw new NotFound('agent');
    const url = issuer.urlOf(orgId);
    const jwksUrl = url + JWKS_PATH;
    const keys = await issuer.listKeys(orgId);
    return {
      issuer: {
        url,
        discoveryUrl: url + DISCOVERY_PATH,
        jwksUrl,
        jwks: { keys: keys.map(({ publicJwk }) => publicJwk) },
        isPublic: isPublicIssuer(url),
        subject,
        manualRotation: await issuer.hasManualRotation(orgId),
        keys: keys.map(({ id, state, createdAt, activeFrom }) => ({
          id,
          state,
          createdAt: createdAt.toISOString(),
          activeFrom: activeFrom?.toISOString() ?? null,
        })),
        setups: listSetups(catalogue, { issuer: url, jwksUrl, subject }),
      },
    };
  };
  app.get(
    '/v1/issuer',
    {
      config: { access: 'viewer', project: { query: { agentId: 'agent' } } },
      schema: {
        ...operation('Issuer', 'getIssuer', 'Get the issuer of the organization, and what to enter at providers'),
        errorStatuses: [404],
        querystring: IssuerQuery,
        response: { 200: IssuerReply },
      },
    },
    async ({ actor, query }) => present(actor, query.agentId ?? null),
  );
  app.patch(
    '/v1/issuer',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Issuer', 'updateIssuer', 'Set manual or automatic activation of signing keys'),
        body: IssuerPatch,
        response: { 200: IssuerReply },
      },
    },
    async ({ actor, body }) => {
      await issuer.setManualRotation(actor, body.manualRotation);
      return present(actor, null);
    },
  );
  app.post(
    '/v1/issuer/keys',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Issuer', 'createIssuerKey', 'Publish the next key'),
        response: { 201: IssuerReply },
        errorStatuses: [409],
      },
    },
    async ({ actor }, reply) => {
      await issuer.createNextKey(actor);
      return reply.code(201).send(await present(actor, null));
    },
  );
  app.post(
    '/v1/issuer/keys/:id/activate',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Issuer', 'activateIssuerKey', 'Activate the pending signing key'),
        errorStatuses: [404],
        params: IssuerKeyParams,
        response: { 200: IssuerReply },
      },
    },
    async ({ actor, params }) => {
      await issuer.activateKey(actor, params.id);
      return present(actor, null);
    },
  );
}

function publicRoutes(app: App, issuer: GatewayIssuer, throttle: Throttle): void {
  const loadKeys = async (orgId: string) => {
    const keys = await issuer.listKeys(orgId);
    // An organization without keys looks like an unknown one, and no request without a login creates a key.
    if (keys.length === 0) throw new NotFound('issuer');
    return keys.map(({ publicJwk }) => publicJwk);
  };
  const shared = {
    config: { access: 'public' },
    onRequest: (request: { readonly ip: string }) => throttle.throttleIssuer(request.ip),
  } as const;
  app.get(
    `/oidc/:orgId${DISCOVERY_PATH}`,
    {
      ...shared,
      schema: {
        ...operation('Issuer', 'getIssuerDiscovery', 'Discovery document of an issuer (OpenID Connect Discovery 1.0)'),
        errorStatuses: [404, 429],
        params: OrgParams,
        response: { 200: Discovery },
      },
    },
    async ({ params }, reply) => {
      await loadKeys(params.orgId);
      const url = issuer.urlOf(params.orgId);
      void reply.header('cache-control', CACHE_CONTROL);
      return {
        issuer: url,
        jwks_uri: url + JWKS_PATH,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti'],
      };
    },
  );
  app.get(
    `/oidc/:orgId${JWKS_PATH}`,
    {
      ...shared,
      schema: {
        ...operation('Issuer', 'getIssuerKeys', 'Public keys of an issuer (RFC 7517)'),
        errorStatuses: [404, 429],
        params: OrgParams,
        response: { 200: JwkSetReply },
      },
    },
    async ({ params }, reply) => {
      const keys = await loadKeys(params.orgId);
      void reply.header('cache-control', CACHE_CONTROL);
      return { keys } as never;
    },
  );
}
