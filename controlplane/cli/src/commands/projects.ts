/** `acg projects`. */
import type { Command } from 'commander';
import { given } from '../api/given.js';
import { findProject } from '../api/lookup.js';
import { confirmed } from '../terminal/ask.js';
import { day, money } from '../terminal/format.js';
import {
  dollarsToCents,
  noteRest,
  nullIfNone,
  type OrNone,
  orNone,
  type PageOptions,
  paged,
  pageOf,
} from './options.js';
import type { Tree } from './tree.js';

interface ProjectOptions {
  readonly name?: string;
  readonly budget?: OrNone<number>;
}
const NAMED = ['<project>', 'name, slug or id'] as const;
const BUDGET = ['--budget <usd>', 'US dollars a month over all its agents, or none', orNone(dollarsToCents)] as const;
const budget = (cents: number | null): string => (cents === null ? '–' : money(cents));

export function projectCommands(group: Command, { begin }: Tree): void {
  paged(group.command('ls').description('list them')).action(async (options: PageOptions) => {
    const run = begin();
    const answer = await (await run.client()).get('/v1/projects', { params: { query: pageOf(options) } });
    run.show(answer, () =>
      run.table(
        [
          { title: 'PROJECT', cell: ({ slug }) => slug },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'BUDGET', cell: ({ budgetCentsMonthly }) => budget(budgetCentsMonthly), right: true },
          { title: 'CREATED', cell: ({ createdAt }) => day(createdAt) },
          { title: 'ID', cell: ({ id }) => id },
        ],
        answer.projects,
      ),
    );
    noteRest(run, answer.projects.length, answer);
  });
  group
    .command('get')
    .description('show one')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findProject(client, text);
      const answer = await client.get('/v1/projects/{id}', { params: { path: { id } } });
      const { slug, name, budgetCentsMonthly, createdAt } = answer.project;
      run.show(answer, () =>
        run.facts({ project: slug, name, id, budget: budget(budgetCentsMonthly), created: createdAt }),
      );
    });
  group
    .command('create')
    .description('make one')
    .argument('<name>', 'its name')
    .action(async (name: string) => {
      const run = begin();
      const answer = await (await run.client()).post('/v1/projects', { body: { name } });
      run.show(answer, () => run.done(`${answer.project.slug}  ${answer.project.id}`));
    });
  group
    .command('set')
    .description('change one')
    .argument(...NAMED)
    .option('--name <name>', 'its name')
    .option(...BUDGET)
    .action(async (text: string, { name, budget }: ProjectOptions) => {
      const run = begin();
      const client = await run.client();
      const id = await findProject(client, text);
      const body = given({ name, budgetCentsMonthly: nullIfNone(budget) });
      const answer = await client.patch('/v1/projects/{id}', { params: { path: { id } }, body });
      run.show(answer, () => run.done(`${answer.project.slug}`));
    });
  group
    .command('rm')
    .description('delete one; its agents must be gone')
    .argument(...NAMED)
    .action(async (text: string) => {
      const run = begin();
      const client = await run.client();
      const id = await findProject(client, text);
      await confirmed(run, `Delete the project ${text} at ${run.settings.url}?`);
      const answer = await client.delete('/v1/projects/{id}', { params: { path: { id } } });
      run.show(answer, () => run.done(`${text} is deleted`));
    });
}
