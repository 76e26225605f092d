/** `acg call`: shows the full record of one call. */
import { idTarget } from '../descriptors/operation-target-from-arguments.js';
import { groupOperation } from '../descriptors/register-operation-commands.js';

export const registerCallCommand = groupOperation({
  operation: 'GET /v1/usage/logs/{id}',
  target: idTarget('<call>', 'its id, the last word of each line of acg logs'),
  print: (run, { log }) => run.printRecord(log),
});
