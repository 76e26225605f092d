/** Code snippets whose code is loaded when they are first shown, because the screen begins with other things. */
import type { ComponentType } from 'react';
import { lazyComponent } from '../layout/lazy-component-no-suspense-delay.js';
import type { CodeSnippetTabsProps } from './code-snippet-tabs.js';

export const LazyCodeSnippetTabs: ComponentType<CodeSnippetTabsProps> = lazyComponent(
  async () => (await import('./code-snippet-tabs.js')).CodeSnippetTabs,
  null,
);
