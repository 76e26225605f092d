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
      await (context.caller ?? context.owner).call('POST', '/v1/personal-agents/keys', { projectId, name: 'Example' });
      return {};
    },
  },
  'POST /v1/personal-agents/keys': {
    prepare: async (context) => {
      const projectId = await projectWithPersonalAgents(context);
      // The first token also creates the agent, with entries of its own in the audit trail.
      await (context.caller ?? context.owner).call('POST', '/v1/personal-agents/keys', { projectId, name: 'First' });
      return { body: { projectId, name: 'acg run on laptop', lifetimeSeconds: 3_600 } };
    },
    success: 201,
  },
  'DELETE /v1/personal-agents/keys/:id': {
    prepare: async (context) => {
      const path = '/v1/personal-agents/keys';
      const input = { projectId: await projectWithPersonalAgents(context), name: 'Example' };
      const own = await (context.caller ?? context.owner).call('POST', path, input);
      // A caller without the right gets the key of the owner.
      const { body } = own.status === 201 ? own : await context.owner.call('POST', path, input);
      return { params: { id: body.key.id } };
    },
  },
};
