/**
 * Page load times of the dashboard in a real browser: until the overview is drawn with all its data, with an empty
 * browser cache, and then until each further view is drawn for the first time, opened as the dashboard's links open it
 * half a second after the view before.
 * A view is drawn when no request is in flight and no placeholder or former list is visible, in the first of three such
 * frames in a row.
 */

import { setTimeout } from 'node:timers/promises';
import { TENANT_PASSWORD } from '@acg/test/fixtures/stack';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { percentile } from '../statistics.js';
import type { ApiTarget } from './usage-request-times.js';

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const VIEWPORT = { width: 1280, height: 900 } as const;
const ORGANIZATION_BASE = /^\/o\/[^/]+/;
const ROUNDS = 20;
/** Between two views, as a person at least takes to see one; meanwhile the page loads the code of the other screens. */
const LOOK_MS = 500;
const LATE_MS = 30_000;
/** The guaranteed time, ms. */
const FIRST_MAX_MS = 1_000;
const LATER_MAX_MS = 500;

interface PageLoadTime {
  readonly view: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Maximum of p95, ms. */
  readonly allowedMs: number;
  readonly kept: boolean;
}

interface View {
  readonly path: string;
  /** Its heading. */
  readonly title: string;
}

/** Every screen, with the variants that cost the ledger most. */
const viewsOf = (agentId: string): readonly View[] => [
  { path: '/?period=90d', title: 'Overview' },
  { path: '/calls', title: 'Calls' },
  { path: '/calls?live=off&page=20', title: 'Calls' },
  { path: '/calls?status=5xx', title: 'Calls' },
  { path: `/calls?agent=${agentId}`, title: 'Calls' },
  { path: '/refusals?period=30d', title: 'Rejections' },
  { path: '/usage?period=30d', title: 'Usage & cost' },
  { path: '/usage?period=90d&by=model', title: 'Usage & cost' },
  { path: '/usage?period=90d&by=agent', title: 'Usage & cost' },
  { path: '/alerts', title: 'Alerts' },
  { path: '/webhooks', title: 'Webhooks' },
  { path: '/agents?period=30d', title: 'Agents' },
  { path: '/agents?period=30d&page=8', title: 'Agents' },
  // The bench uses the ids of its agents as their names.
  { path: `/agents/${agentId}`, title: agentId },
  { path: `/agents/${agentId}?tab=calls`, title: agentId },
  { path: '/keys', title: 'Gateway tokens' },
  { path: '/providers', title: 'Providers' },
  { path: '/projects', title: 'Projects' },
  { path: '/members', title: 'Members' },
  { path: '/audit', title: 'Audit' },
  { path: '/settings?tab=organization', title: 'Settings' },
];

/** Runs in the page before its own scripts: counts requests in flight, and detects when a view is drawn. */
const WATCH = `(() => {
  let under = 0;
  const ask = globalThis.fetch;
  globalThis.fetch = async (...given) => {
    under++;
    try {
      const answer = await ask(...given);
      const body = await answer.arrayBuffer();
      return new Response(body.byteLength === 0 ? null : body, answer);
    } finally {
      under--;
    }
  };
  const PLACEHOLDERS = '.mantine-Skeleton-root,.mantine-Loader-root,[role="status"][aria-label^="Loading"],[aria-busy="true"]';
  const isDrawn = (title) =>
    under === 0 &&
    document.querySelector('h1')?.textContent === title &&
    document.querySelector(PLACEHOLDERS) === null;
  globalThis.drawnAfter = (startMs, title) =>
    new Promise((drawn, fail) => {
      let sinceMs = null;
      let frames = 0;
      const look = () => {
        const nowMs = performance.now();
        if (!isDrawn(title)) [sinceMs, frames] = [null, 0];
        else {
          sinceMs ??= nowMs;
          if (++frames === 3) return drawn(sinceMs - startMs);
        }
        if (nowMs - startMs > ${LATE_MS}) fail(new Error(title + ' was not drawn'));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
})()`;

export async function measureDrawTimesInChromium(api: ApiTarget, agentId: string): Promise<readonly PageLoadTime[]> {
  const browser = await chromium.launch({ executablePath: CHROMIUM });
  try {
    const signedIn = await signIn(browser, api);
    const first: number[] = [];
    const painted: number[] = [];
    const views = viewsOf(agentId);
    const later = views.map((): number[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      const page = await openPage(browser, signedIn);
      await page.goto(`${api.url}/?period=30d`, { waitUntil: 'commit' });
      first.push(await page.evaluate<number>(`drawnAfter(0, 'Overview')`));
      painted.push(await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`));
      // An address without organization is redirected, which mounts the whole frame of the page again; links have it.
      const base = ORGANIZATION_BASE.exec(new URL(page.url()).pathname)?.[0];
      if (base === undefined) throw new Error(`the address names no organization: ${page.url()}`);
      for (const [i, { path, title }] of views.entries()) {
        await setTimeout(LOOK_MS);
        later[i]!.push(
          await page.evaluate<number>(`(() => {
            const startMs = performance.now();
            history.pushState(null, '', ${JSON.stringify(base + path)});
            return drawnAfter(startMs, ${JSON.stringify(title)});
          })()`),
        );
      }
      await page.context().close();
    }
    return [
      row('first paint of the overview', painted, FIRST_MAX_MS),
      row('overview with all its figures', first, FIRST_MAX_MS),
      ...views.map(({ path }, i) => row(path.replace(agentId, ':agent'), later[i]!, LATER_MAX_MS)),
      row('every later view', later.flat(), LATER_MAX_MS),
    ];
  } finally {
    await browser.close();
  }
}

type SignedIn = Awaited<ReturnType<BrowserContext['storageState']>>;

/** Signs in as the page does, with a session cookie of the service. The bench's own session stays valid. */
async function signIn(browser: Browser, { url, session }: ApiTarget): Promise<SignedIn> {
  const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${session}` } });
  const { user } = (await me.json()) as { user: { email: string } };
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/sign-in`);
  const body = JSON.stringify(JSON.stringify({ email: user.email, password: TENANT_PASSWORD }));
  const options = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: ${body} }`;
  const status = await page.evaluate<number>(`fetch('/v1/session', ${options}).then(({ status }) => status)`);
  if (status !== 200) throw new Error(`the sign-in responded with ${status}`);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** A page of a browser with an empty cache. */
async function openPage(browser: Browser, storageState: SignedIn): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT, storageState });
  await context.addInitScript(WATCH);
  return context.newPage();
}

function row(view: string, samples: readonly number[], allowedMs: number): PageLoadTime {
  const p95Ms = Math.round(percentile(samples, 95));
  return {
    view,
    p50Ms: Math.round(percentile(samples, 50)),
    p95Ms,
    maxMs: Math.round(Math.max(...samples)),
    allowedMs,
    kept: p95Ms <= allowedMs,
  };
}
