/** For tests: a complete context as the control plane sends it. */
import type { IAgentContext, IUpstream } from '@acg/proto/messages';

export const createContextMessage = (
  change: Partial<IAgentContext> = {},
  upstream: Partial<IUpstream> = {},
): IAgentContext => ({
  keyId: 'key-1',
  keyScope: 'agent',
  orgId: 'org-1',
  projectId: 'project-1',
  agentId: 'agent-1',
  agentName: 'Agent One',
  agentSlug: 'agent-one',
  agentStatus: 'active',
  rpmLimit: 60,
  rpdLimit: 10_000,
  spendMonth: '2026-11',
  spendNanos: 0,
  upstreams: [
    {
      providerSlug: 'openai',
      publicSlug: 'openai',
      accountId: 'account-1',
      accountStatus: 'active',
      origin: 'https://api.openai.com',
      circuitKey: 'openai https://api.openai.com',
      injection: { header: { name: 'authorization', prefix: 'Bearer ', secret: 'sk-secret-1' } },
      usageFormat: 'openai',
      priceProvider: 'openai',
      failure: { statuses: [500] },
      ...upstream,
    },
  ],
  ...change,
});
