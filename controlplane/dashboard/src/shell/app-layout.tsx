/** The layout of every screen: header, navigation, banners and overlays. */
import { AppShell, Burger, Group, Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useReducedMotion } from '@mantine/hooks';
import { Fragment, lazy, memo, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { Link, useLocation } from 'wouter';
import { lazyComponent } from '../components/layout/lazy-component-no-suspense-delay.js';
import { Logo } from '../components/layout/logo.js';
import { onTimeZoneChange, timeZoneChoice } from '../format/time-zone.js';
import { useKeyboardShortcuts } from './keyboard-shortcuts.js';
import { OutageVersionOrReviewBanner } from './outage-version-or-review-banner.js';
import { SidebarNavigation } from './sidebar-navigation.js';
import { SilentErrorBoundary } from './silent-error-boundary.js';

// Loaded later: menus and tooltips are a quarter of the layout's scripts, and the content does not need them.
const HeaderActions = lazyComponent(
  async () => (await import('./header-actions.js')).HeaderActions,
  <Skeleton h={34} w={200} />,
);
export const preloadLayout = (): void => void HeaderActions.preload();
const CommandPalette = lazy(() =>
  import('./command-palette.js').then((module) => ({ default: module.CommandPalette })),
);
const ConfirmationDialog = lazyComponent(
  async () => (await import('./confirmation-dialog.js')).ConfirmationDialog,
  null,
);
const KeyboardShortcutsHelp = lazy(() =>
  import('./keyboard-shortcuts-help.js').then((module) => ({ default: module.KeyboardShortcutsHelp })),
);

const HEADER_HEIGHT = 56;
const NAVBAR_WIDTH = 232;
const SLIDE_MS = 200;
type Overlay = 'palette' | 'keys' | null;

interface HeaderProps {
  readonly menuOpen: boolean;
  readonly onMenu: () => void;
  readonly onOverlay: (overlay: Overlay) => void;
}

/** Not rendered again when the screen changes: its menus cost as much as a small screen. */
const Header = memo(({ menuOpen, onMenu, onOverlay }: HeaderProps) => (
  <AppShell.Header>
    <Group h="100%" px="md" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap" flex="none">
        <Burger
          opened={menuOpen}
          onClick={onMenu}
          hiddenFrom="sm"
          size="sm"
          aria-label="Navigation"
          aria-expanded={menuOpen}
        />
        <UnstyledButton component={Link} href="/" aria-label="Agent Credential Gateway: overview">
          <Group gap="xs" wrap="nowrap">
            <Logo size={26} />
            <Text fw={650} visibleFrom="md">
              Agent Credential Gateway
            </Text>
          </Group>
        </UnstyledButton>
      </Group>
      <SilentErrorBoundary>
        <HeaderActions onSearch={() => onOverlay('palette')} onHelp={() => onOverlay('keys')} />
      </SilentErrorBoundary>
    </Group>
  </AppShell.Header>
));

const Navbar = memo(() => (
  <AppShell.Navbar p="sm" aria-label="Main">
    <SidebarNavigation />
  </AppShell.Navbar>
));

export function AppLayout({ children }: { readonly children: ReactNode }) {
  const [menuOpen, menu] = useDisclosure(false);
  const [overlay, setOverlay] = useState<Overlay>(null);
  const timeZone = useSyncExternalStore(onTimeZoneChange, timeZoneChoice);
  const [path] = useLocation();
  const prefersReducedMotion = useReducedMotion(undefined, { getInitialValueInEffect: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: changing the screen closes the drawer
  useEffect(() => menu.close(), [path]);
  useKeyboardShortcuts({ openPalette: () => setOverlay('palette'), openHelp: () => setOverlay('keys') });
  return (
    <AppShell
      header={{ height: HEADER_HEIGHT }}
      navbar={{ width: NAVBAR_WIDTH, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding={{ base: 'md', md: 'xl' }}
      withBorder
      transitionDuration={prefersReducedMotion ? 0 : SLIDE_MS}
    >
      <a className="acg-skip-link" href="#main">
        Skip to content
      </a>
      <Header menuOpen={menuOpen} onMenu={menu.toggle} onOverlay={setOverlay} />
      <Navbar />
      <AppShell.Main id="main" tabIndex={-1}>
        {/* Another zone renders every time again. */}
        <Fragment key={timeZone}>
          <OutageVersionOrReviewBanner />
          {children}
        </Fragment>
      </AppShell.Main>
      <ConfirmationDialog />
      <SilentErrorBoundary>
        <Suspense>
          {overlay === 'palette' && <CommandPalette onClose={() => setOverlay(null)} />}
          {overlay === 'keys' && <KeyboardShortcutsHelp onClose={() => setOverlay(null)} />}
        </Suspense>
      </SilentErrorBoundary>
    </AppShell>
  );
}
