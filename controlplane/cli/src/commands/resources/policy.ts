/** `acg policy`: tests what the policy of an agent allows, without a call. */
import { rejectionAdvice } from '@acg/base/rejection-reasons';
import { Option } from 'commander';
import { findAgentId, requireAgentName } from '../../api/find-agent.js';
import { POLICY_FILE_OPTION, readPolicyFile } from '../../options/agent-options.js';
import { requiredField, textField } from '../../options/field.js';
import { CliError, EXIT_CODES } from '../../terminal/cli-error.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';
import { commandGroup, operationCommand } from '../descriptors/register-operation-commands.js';

const AGENT: Target = {
  options: [new Option('--agent <agent>', 'name, slug or id (ACG_AGENT)')],
  find: async (run, _text, { agent }) => ({ id: await findAgentId(run, requireAgentName(run, agent)) }),
};

export const registerPolicyCommands = commandGroup(
  operationCommand({
    name: 'test',
    description: 'check whether a call would pass; exit 5 where it would not. Limits and budgets are not checked',
    operation: 'POST /v1/agents/{id}/call-check',
    target: AGENT,
    fields: {
      call: textField('<call>', "method and path at the provider, e.g. 'POST /v1/chat/completions'"),
      providerSlug: requiredField(textField('--provider <slug>', 'the provider, e.g. openai')),
      model: textField('--model <model>', 'the model that the body would name'),
    },
    options: [POLICY_FILE_OPTION],
    body: (run, { options }) => readPolicyFile(run, options),
    print: (run, { reason }) => {
      if (reason === null) run.printSuccess('the call would pass');
      else run.printLine(`✗ ${reason}: ${rejectionAdvice(reason).cause}`);
    },
    after(_run, { allowed }) {
      if (!allowed) throw new CliError(EXIT_CODES.forbidden, 'the gateway would reject the call');
    },
  }),
);
