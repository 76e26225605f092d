/** The agent's last calls, forwarded and rejected. */
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RecentCalls } from '../../components/reports/recent-calls.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

const ROWS = 50;

export const CallsTab = ({ agent }: { readonly agent: Agent }) => (
  <RecentCalls
    scope={{ agentId: agent.id }}
    rows={ROWS}
    empty={<EmptyState title="No calls yet" text="The Connect tab shows how to make one." />}
  />
);
