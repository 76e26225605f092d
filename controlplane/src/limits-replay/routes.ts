import type { App } from '../http/app.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import type { ReplayService } from './replay-service.js';
import { LimitReplayInput, LimitReplayReply } from './schema.js';

export function replayRoutes(app: App, replays: ReplayService): void {
  app.post(
    '/v1/limits/replay',
    {
      config: { access: 'viewer', project: { body: { agentIds: 'agents' } } },
      schema: {
        ...operation('Usage', 'replayLimits', 'Replay recorded calls against other limits'),
        errorStatuses: [404],
        body: LimitReplayInput,
        response: { 200: LimitReplayReply },
      },
    },
    async ({ actor, body }) => replays.replay(actor, body),
  );
}
