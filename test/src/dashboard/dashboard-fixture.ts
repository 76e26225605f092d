/**
 * The dashboard in a real browser, on the whole gateway as real processes. All files of a worker share one browser, and
 * one stack unless they need settings of their own; each test has its own organization, each page its own context. After
 * each test, the console, page errors and CSP violations must be empty.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, test as baseTest, expect } from 'vitest';
import { Stack, type StackOptions } from '../fixtures/stack.js';

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const AXE_SCRIPT = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** The rules of {@link AXE_RULES} that check colours. */
const AXE_COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const SCREENSHOTS = fileURLToPath(new URL('../../screenshots', import.meta.url));
const COLOR_SCHEMES = ['light', 'dark'] as const;
const VIEWPORTS = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
] as const;
/** An item of a list on a phone, pixels. */
const CARD_HEIGHT_MAX = 96;
/** Also checked for width; the markup is that of 1280. */
const WIDEST_VIEWPORT = { width: 1440, height: 900 } as const;
const OVERFLOW_SETTLES_MS = 30_000;
const NARROWEST_VIEWPORT = { width: 360, height: 740 } as const;

interface HoverTarget {
  /** Classes and style, without what differs from one instance to the next. */
  readonly kind: string;
  readonly x: number;
  readonly y: number;
}

interface Layout {
  /** By which the page is wider than the window. */
  readonly overflowPx: number;
  /** Closed cards of lists on phones that are too high; the cards of totals are no items, and long texts are wanted. */
  readonly tallCards: readonly string[];
  /** Figures, labels of buttons and lists of one-line rows that are cut off. */
  readonly truncatedTexts: readonly string[];
}

/** Kinds of controls that were checked under the pointer, with the theme. */
const hoveredControls = new Set<string>();
/** Buttons and links with a text whose middle is visible and not covered. */
const FIND_HOVER_TARGETS = `[...document.querySelectorAll('button,a')].flatMap((control) => {
  const { left, top, width, height } = control.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const isShown = width > 0 && x > 0 && y > 0 && x < innerWidth && y < innerHeight;
  if (!isShown || control.textContent.trim() === '' || control.disabled || control.ariaDisabled === 'true') return [];
  if (!control.contains(document.elementFromPoint(x, y))) return [];
  return [{ kind: [control.className, control.getAttribute('style'), control.dataset.variant].join(), x, y }];
})`;

/** A user of the dashboard with a separate browser context. */
class BrowserUser {
  readonly #problems: string[] = [];
  readonly #expected: { readonly status: number; readonly path: RegExp }[] = [];
  readonly #expectedErrors: RegExp[] = [];

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    /** URL of the dashboard, without a trailing slash. */
    readonly url: string,
  ) {
    page.setDefaultTimeout(Number(process.env.BROWSER_TIMEOUT_MS ?? 180_000));
    page.on('pageerror', (error) => this.#problems.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      const at = message.location().url;
      const failed = /Failed to load resource: (?:.* status of (\d+)|net::)/.exec(message.text());
      const known =
        failed !== null &&
        this.#expected.some(({ status, path }) => Number(failed[1] ?? 0) === status && path.test(at));
      if (this.#expectedErrors.some((text) => text.test(message.text()))) return;
      if (!known) this.#problems.push(`console ${message.type()}: ${message.text()} ${at}`);
    });
  }

  /** The browser prints every failed response to the console: this one is expected. Status 0: no response. */
  expectHttpError(status: number, path: RegExp): void {
    this.#expected.push({ status, path });
  }

  /** An expected console error that the page also shows. */
  expectConsoleError(text: RegExp): void {
    this.#expectedErrors.push(text);
  }

  /** All unexpected console messages, page errors and CSP violations. */
  async problems(): Promise<readonly string[]> {
    const violations = await this.page.evaluate(() => (globalThis as { acgViolations?: string[] }).acgViolations ?? []);
    return [...this.#problems, ...violations.map((violation) => `policy: ${violation}`)];
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(this.url + path);
    await this.waitUntilLoaded();
  }

  /** Waits until nothing is loading. */
  async waitUntilLoaded(): Promise<void> {
    await this.page.waitForFunction(() => {
      const { document } = globalThis as unknown as { document: { querySelector(s: string): unknown } };
      const loading =
        '.mantine-Skeleton-root,.mantine-Loader-root:not([data-waiting]),[role="status"][aria-label^="Loading"],[data-stale]';
      return document.querySelector('#root > *, body > main') !== null && document.querySelector(loading) === null;
    });
  }

  /** Creates a session without the login form. */
  async createSession(email: string, password: string): Promise<void> {
    const headers = { 'sec-fetch-site': 'same-origin' };
    const answer = await this.context.request.post(`${this.url}/v1/session`, { data: { email, password }, headers });
    expect(answer.status()).toBe(200);
  }

  async logIn(email: string, password: string): Promise<void> {
    await this.goto('/sign-in');
    await this.page.getByLabel('E-mail').fill(email);
    await this.page.getByLabel('Password', { exact: true }).fill(password);
    await this.page.getByRole('button', { name: 'Log in' }).click();
    await this.page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' });
    await this.waitUntilLoaded();
  }

  /**
   * Checks the current page in both themes and both widths: no axe violation, no horizontal overflow. With
   * `SCREENSHOTS=1`, saves a screenshot of each as test/screenshots/`name`-….
   */
  async checkPage(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    for (const { width, height } of VIEWPORTS) {
      await this.page.setViewportSize({ width, height });
      for (const colorScheme of COLOR_SCHEMES) {
        await this.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await this.waitUntilLoaded();
        if (process.env.SCREENSHOTS === '1')
          await this.page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}-${width}.png`, fullPage: true });
        if (width === VIEWPORTS[0].width)
          expect(await this.#findHoverViolations(colorScheme), `${name}, ${colorScheme}: under the pointer`).toEqual(
            [],
          );
        // The same elements in the other theme: only rules about colours can differ.
        const isMarkupChecked = (await this.#keepMarkup()) && colorScheme !== COLOR_SCHEMES[0];
        const rules = isMarkupChecked ? AXE_COLOR_RULES : AXE_RULES;
        expect(await this.#findAccessibilityViolations(rules), `${name}, ${colorScheme}, ${width}`).toEqual([]);
        const { tallCards } = await this.#checkLayout(name, width);
        expect(tallCards, `${name}, ${width}: items of lists above ${CARD_HEIGHT_MAX} px`).toEqual([]);
      }
    }
    for (const viewport of [NARROWEST_VIEWPORT, WIDEST_VIEWPORT]) {
      await this.page.setViewportSize(viewport);
      await this.#checkLayout(name, viewport.width);
    }
    await this.page.setViewportSize(VIEWPORTS[0]);
  }

  /** Saves a screenshot of the current page. */
  async saveScreenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
  }

  /** Opens a path and checks the page. */
  async gotoAndCheck(path: string, name: string): Promise<void> {
    await this.goto(path);
    await this.checkPage(name);
  }

  /**
   * Contrast of buttons and links under the pointer, which axe alone does not see. Controls of the same classes and style are
   * checked once in each theme by all tests of a worker.
   */
  async #findHoverViolations(colorScheme: string): Promise<readonly string[]> {
    const violations: string[] = [];
    for (const { kind, x, y } of await this.page.evaluate<HoverTarget[]>(FIND_HOVER_TARGETS)) {
      if (hoveredControls.has(`${colorScheme} ${kind}`)) continue;
      hoveredControls.add(`${colorScheme} ${kind}`);
      await this.page.mouse.move(x, y);
      violations.push(...(await this.#findAccessibilityViolations(['color-contrast'], [x, y])));
    }
    await this.page.mouse.move(0, 0);
    return violations;
  }

  /**
   * Keeps the markup in the page, and returns whether it is that of the previous call on this page. Without the theme, and
   * without the mark that stops transitions shortly after a resize.
   */
  #keepMarkup(): Promise<boolean> {
    return this.page.evaluate(() => {
      const page = globalThis as unknown as {
        document: { documentElement: { outerHTML: string } };
        acgMarkup?: string;
      };
      const former = page.acgMarkup;
      const { outerHTML } = page.document.documentElement;
      page.acgMarkup = outerHTML.replace(/ data-mantine-color-scheme="\w+"| data-resizing="true"/g, '');
      return page.acgMarkup === former;
    });
  }

  /** `at`: only the control at this point. */
  async #findAccessibilityViolations(
    rules: readonly string[],
    at: readonly [x: number, y: number] | null = null,
  ): Promise<readonly string[]> {
    if (!(await this.page.evaluate<boolean>('"axe" in globalThis'))) await this.page.evaluate(AXE_SCRIPT);
    const violations = await this.page.evaluate(
      async ({ runOnly, point }) => {
        const { axe, document } = globalThis as unknown as {
          axe: {
            run(
              context: unknown,
              options: object,
            ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
          };
          document: { elementFromPoint(x: number, y: number): { closest(selector: string): unknown } | null };
        };
        const context = point === null ? document : document.elementFromPoint(...point)?.closest('button,a');
        return context == null ? [] : (await axe.run(context, { runOnly, resultTypes: ['violations'] })).violations;
      },
      { runOnly: rules, point: at },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
    );
  }

  /** Expects no horizontal overflow and no cut figure or label of a button. */
  async #checkLayout(name: string, width: number): Promise<Layout> {
    let layout = await this.#measureLayout();
    const overflowPx = async (): Promise<number> => {
      layout = await this.#measureLayout();
      return layout.overflowPx;
    };
    // An open menu follows the width of the window with a delay.
    if (layout.overflowPx > 0)
      await expect
        .poll(overflowPx, { message: `${name} is wider than ${width}`, timeout: OVERFLOW_SETTLES_MS })
        .toBeLessThanOrEqual(0);
    expect(layout.truncatedTexts, `${name}, ${width}: figures and labels of buttons that are cut`).toEqual([]);
    return layout;
  }

  #measureLayout(): Promise<Layout> {
    return this.page.evaluate((cardHeightMax) => {
      interface Box {
        readonly scrollWidth: number;
        readonly clientWidth: number;
        readonly textContent: string;
        querySelector(selector: string): unknown;
        getBoundingClientRect(): { readonly height: number };
      }
      const { document, innerWidth } = globalThis as unknown as {
        document: { documentElement: Box; querySelectorAll(selector: string): Iterable<Box> };
        innerWidth: number;
      };
      return {
        overflowPx: document.documentElement.scrollWidth - innerWidth,
        tallCards: [...document.querySelectorAll('.acg-card-list-item')]
          .filter((card) => card.querySelector('[aria-expanded="false"]') !== null)
          .filter((card) => card.querySelector('.acg-card-text') === null)
          .map((card) => ({ height: card.getBoundingClientRect().height, text: card.textContent }))
          .filter(({ height }) => height > cardHeightMax)
          .map(({ height, text }) => `${height} px: ${text}`),
        truncatedTexts: [...document.querySelectorAll('.acg-metric-value,.mantine-Button-label,.acg-dense-card')]
          .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
          .map(({ textContent }) => textContent.slice(0, 200)),
      };
    }, CARD_HEIGHT_MAX);
  }
}

/** Blocks requests to `url` until the returned function is called. */
export async function blockRequests(page: Page, url: string | RegExp): Promise<() => void> {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(url, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

interface DashboardFixture {
  readonly stack: Stack;
  /** A new context with an empty page. */
  openBrowserUser(options?: BrowserUserOptions): Promise<BrowserUser>;
  /** Signs up an owner of a new organization, logged in, on an empty page. */
  signUpOwner(options?: BrowserUserOptions): Promise<SignedUpOwner>;
}

interface BrowserUserOptions {
  /** Of the dashboard; default: the control plane itself. */
  readonly url?: string;
  /** Pages load no screen that is not open, which saves a fifth of the CPU of a page. Default: true. */
  readonly savesData?: boolean;
}

interface SignedUpOwner {
  readonly visitor: BrowserUser;
  readonly email: string;
  readonly password: string;
}

const test = baseTest
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the used fixtures from the pattern
  .extend('sharedBrowser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await chromium.launch({ executablePath: CHROMIUM });
    onCleanup(() => browser.close());
    return browser;
  })
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the used fixtures from the pattern
  .extend('sharedStack', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const stack = await Stack.start();
    onCleanup(() => stack.stop());
    return stack;
  });

/** `options`: the calling file gets its own stack with these settings instead of the one of the worker. */
export function useDashboard(options: StackOptions | null = null): () => DashboardFixture {
  let browser: Browser | null = null;
  let stack: Stack | null = null;
  const visitors: BrowserUser[] = [];

  if (options === null) {
    test.beforeAll(async ({ sharedBrowser, sharedStack }) => {
      browser = sharedBrowser;
      stack = sharedStack;
    });
  } else {
    test.beforeAll(async ({ sharedBrowser }) => {
      browser = sharedBrowser;
      stack = await Stack.start(options);
    });
    afterAll(() => stack?.stop());
  }
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await Promise.all(visitors.map((visitor) => visitor.saveScreenshot('failed')));
    const problems = await Promise.all(visitors.map((visitor) => visitor.problems()));
    await Promise.all(visitors.splice(0).map(({ context }) => context.close()));
    expect(problems.flat()).toEqual([]);
  });

  const open: DashboardFixture['openBrowserUser'] = async ({ url = stack!.apiUrl, savesData = true } = {}) => {
    const context = await browser!.newContext({ viewport: VIEWPORTS[0], reducedMotion: 'reduce' });
    await context.addInitScript((saveData) => {
      const { navigator } = globalThis as unknown as { navigator: object };
      Object.defineProperty(navigator, 'connection', { value: { saveData } });
      const violations: string[] = [];
      Object.assign(globalThis, { acgViolations: violations });
      const { addEventListener } = globalThis as unknown as {
        addEventListener(
          name: string,
          listen: (event: { violatedDirective: string; blockedURI: string }) => void,
        ): void;
      };
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
        violations.push(`${violatedDirective} ${blockedURI}`);
      });
    }, savesData);
    const visitor = new BrowserUser(context, await context.newPage(), url);
    visitors.push(visitor);
    return visitor;
  };
  return () => ({
    stack: stack!,
    openBrowserUser: open,
    async signUpOwner(options) {
      const email = `${crypto.randomUUID()}@example.com`;
      const password = 'correct horse battery';
      const body = { email, password, name: 'Ada Owner', orgName: 'Acme' };
      await stack!.call('POST', '/v1/auth/signup', null, body);
      const visitor = await open(options);
      await visitor.createSession(email, password);
      return { visitor, email, password };
    },
  });
}
