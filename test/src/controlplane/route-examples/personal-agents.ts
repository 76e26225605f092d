import { newProject } from './identity.js';
import type { ExampleContext, Examples } from './route-example.js';

async function projectWithPersonalAgents(context: ExampleContext): Promise<string> {
  const { owner } = context;
  const projectId = await newProject(context);
  const { body } = await owner.call('POST', '/v1/credentials', {
    name: 'For members',
    projectId,
    providerSlug: 'openai',
    credentials: { apiKey: 'sk-example-example-example' },
  });
  await owner.call('PATCH', `/v1/projects/${projectId}`, { personalAgents: { credentialIds: [body.credential.id] } });
  return projectId;
}

export const PERSONAL_AGENT_EXAMPLES: Examples = {
  'GET /v1/personal-agents': {
    prepare: async (context) => {
      const projectId = await projectWithPersonalAgents(context);
      await (context.caller ?? context.owner).call('POST', `/v1/projects/${projectId}/personal-agent/keys`, {
        name: 'Example',
      });
      return {};
    },
  },
  'POST /v1/projects/:id/personal-agent/keys': {
    prepare: async (context) => ({
      params: { id: await projectWithPersonalAgents(context) },
      body: { name: 'acg run on laptop', lifetimeSeconds: 3_600 },
    }),
    success: 201,
  },
  'DELETE /v1/projects/:id/personal-agent/keys/:keyId': {
    prepare: async (context) => {
      const id = await projectWithPersonalAgents(context);
      const path = `/v1/projects/${id}/personal-agent/keys`;
      const own = await (context.caller ?? context.owner).call('POST', path, { name: 'Example' });
      // A caller without the right gets the key of the owner.
      const { body } = own.status === 201 ? own : await context.owner.call('POST', path, { name: 'Example' });
      return { params: { id, keyId: body.key.id } };
    },
  },
};
