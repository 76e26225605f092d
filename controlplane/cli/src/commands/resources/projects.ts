/** `acg projects`: manages projects. */
import type { Command } from 'commander';
import { findProjectId } from '../../api/find-by-name.js';
import { omitUndefined } from '../../api/omit-undefined.js';
import type { CommandContext } from '../../invocation/command-context.js';
import {
  addPageOptions,
  noneToNull,
  type OrNone,
  type PageOptions,
  parseDollarsAsCents,
  parseOrNone,
  printRemainingRows,
  toPageQuery,
} from '../../options/parse-options.js';
import { formatCents, formatDay } from '../../terminal/format.js';
import { requireConfirmation } from '../../terminal/prompt.js';

interface ProjectOptions {
  readonly name?: string;
  readonly budget?: OrNone<number>;
}
const PROJECT_ARGUMENT = ['<project>', 'name, slug or id'] as const;
const BUDGET_OPTION = [
  '--budget <usd>',
  'US dollars per month for all agents of the project, or none',
  parseOrNone(parseDollarsAsCents),
] as const;
const budget = (cents: number | null): string => (cents === null ? '–' : formatCents(cents));

export function registerProjectCommands(group: Command, { begin }: CommandContext): void {
  addPageOptions(group.command('ls').description('list projects')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.getClient()).get('/v1/projects', { params: { query: toPageQuery(options) } });
    run.printResult(answer, () =>
      run.printTable(
        [
          { title: 'PROJECT', cell: ({ slug }) => slug },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'BUDGET', cell: ({ budgetCentsMonthly }) => budget(budgetCentsMonthly), alignRight: true },
          { title: 'CREATED', cell: ({ createdAt }) => formatDay(createdAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.projects,
      ),
    );
    printRemainingRows(run, answer.projects.length, answer);
  });
  group
    .command('get')
    .description('show a project')
    .argument(...PROJECT_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findProjectId(client, text);
      const answer = await client.get('/v1/projects/{id}', { params: { path: { id } } });
      const { slug, name, budgetCentsMonthly, createdAt } = answer.project;
      run.printResult(answer, () =>
        run.printFields({ project: slug, name, id, budget: budget(budgetCentsMonthly), created: createdAt }),
      );
    });
  group
    .command('create')
    .description('create a project')
    .argument('<name>', 'its name')
    .action(async (name: string) => {
      const run = begin();
      const answer = await (await run.getClient()).post('/v1/projects', { body: { name } });
      run.printResult(answer, () => run.printSuccess(`${answer.project.slug}  ${answer.project.id}`));
    });
  group
    .command('set')
    .description('change a project')
    .argument(...PROJECT_ARGUMENT)
    .option('--name <name>', 'its name')
    .option(...BUDGET_OPTION)
    .action(async (text: string, { name, budget }: ProjectOptions) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findProjectId(client, text);
      const body = omitUndefined({ name, budgetCentsMonthly: noneToNull(budget) });
      const answer = await client.patch('/v1/projects/{id}', { params: { path: { id } }, body });
      run.printResult(answer, () => run.printSuccess(`${answer.project.slug}`));
    });
  group
    .command('rm')
    .description('delete a project without agents')
    .argument(...PROJECT_ARGUMENT)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.getClient();
      const id = await findProjectId(client, text);
      await requireConfirmation(run, `Delete the project ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/projects/{id}', { params: { path: { id } } });
      run.printResult(answer, () => run.printSuccess(`${text} is deleted`));
    });
}
