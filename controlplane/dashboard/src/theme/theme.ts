/** The theme: sizes, colours and default props of the UI library's components. */
import { type CSSVariablesResolver, createTheme } from '@mantine/core';

const closeButton = { closeButtonProps: { 'aria-label': 'Close' } };

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.3' },
      h2: { fontSize: '1.125rem', lineHeight: '1.4' },
      h3: { fontSize: '1rem', lineHeight: '1.45' },
    },
  },
  components: {
    Card: { defaultProps: { withBorder: true, padding: 'lg' } },
    // The options of closed selects would be mounted and positioned, too, which lays out the page at each view.
    Combobox: { defaultProps: { keepMounted: false } },
    // Optional fields are marked in their label; all others are required.
    InputWrapper: { defaultProps: { withAsterisk: false } },
    Drawer: { defaultProps: closeButton },
    // The placeholder would count as an item of the menu.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { ...closeButton, centered: true } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } },
    // No transition: the selection must be readable at once, also after a theme change.
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Tooltip: {
      defaultProps: { withArrow: true, multiline: true, maw: 320, events: { hover: true, focus: true, touch: true } },
    },
  },
});

/** The UI library's shades of secondary text miss the WCAG AA contrast on its own surfaces. */
export const accessibleColorVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-yellow-light': 'var(--mantine-color-yellow-0)',
    // Of subtle and light buttons: darker than the library's, whose contrast is 4.1 while the pointer is on them.
    '--mantine-color-indigo-light-color': '#2e43a9',
    '--mantine-color-red-light-color': '#a61e1e',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--acg-page-background': 'var(--mantine-color-gray-0)',
    '--acg-surface': 'var(--mantine-color-white)',
    '--acg-border': 'var(--mantine-color-gray-3)',
    '--acg-hover': 'var(--mantine-color-gray-0)',
    '--acg-sparkline': 'var(--mantine-color-indigo-6)',
    '--acg-selected': 'var(--mantine-color-indigo-0)',
    '--acg-selected-text': 'var(--mantine-color-indigo-9)',
    '--acg-success': 'var(--mantine-color-green-9)',
    '--acg-warning': '#8a4b00',
    '--acg-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-yellow-light': 'rgba(250, 176, 5, 0.12)',
    '--mantine-color-red-light': 'rgba(250, 82, 82, 0.14)',
    '--mantine-color-red-light-hover': 'rgba(250, 82, 82, 0.2)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    '--mantine-color-red-light-color': 'var(--mantine-color-red-4)',
    '--mantine-color-indigo-light-color': 'var(--mantine-color-indigo-3)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--acg-page-background': 'var(--mantine-color-dark-8)',
    '--acg-surface': 'var(--mantine-color-dark-7)',
    '--acg-border': 'var(--mantine-color-dark-4)',
    '--acg-hover': 'var(--mantine-color-dark-6)',
    '--acg-sparkline': 'var(--mantine-color-indigo-4)',
    '--acg-selected': 'rgba(92, 124, 250, 0.16)',
    '--acg-selected-text': 'var(--mantine-color-indigo-2)',
    '--acg-success': 'var(--mantine-color-green-4)',
    '--acg-warning': 'var(--mantine-color-yellow-4)',
    '--acg-error': 'var(--mantine-color-red-4)',
  },
});
