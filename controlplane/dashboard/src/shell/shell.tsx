/** The frame of every screen: navigation, organization, theme, palette, and what concerns the whole page. */
import { AppShell, Burger, Group, Skeleton, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useReducedMotion } from '@mantine/hooks';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Mark } from '../parts/mark.js';
import { Banner } from './banner.js';
import { Navigation } from './navigation.js';
import { Optional } from './optional.js';
import { useShortcuts } from './shortcuts.js';

// Menus and tooltips are a quarter of the frame's scripts, and no figure waits for them.
const HeaderTools = lazy(() => import('./header-tools.js').then((module) => ({ default: module.HeaderTools })));
const Palette = lazy(() => import('./palette.js').then((module) => ({ default: module.Palette })));
const KeyboardHelp = lazy(() => import('./keyboard-help.js').then((module) => ({ default: module.KeyboardHelp })));

const HEADER_HEIGHT = 56;
const NAVBAR_WIDTH = 232;
const SLIDE_MS = 200;
type Overlay = 'palette' | 'keys' | null;

export function Shell({ children }: { readonly children: ReactNode }) {
  const [menuOpen, menu] = useDisclosure(false);
  const [overlay, setOverlay] = useState<Overlay>(null);
  const [path] = useLocation();
  const still = useReducedMotion(undefined, { getInitialValueInEffect: false });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another screen closes the drawer
  useEffect(() => menu.close(), [path]);
  useShortcuts({ openPalette: () => setOverlay('palette'), openHelp: () => setOverlay('keys') });
  return (
    <AppShell
      header={{ height: HEADER_HEIGHT }}
      navbar={{ width: NAVBAR_WIDTH, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
      padding={{ base: 'md', md: 'xl' }}
      withBorder
      transitionDuration={still ? 0 : SLIDE_MS}
    >
      <a className="acg-skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap" flex="none">
            <Burger
              opened={menuOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Navigation"
              aria-expanded={menuOpen}
            />
            <UnstyledButton component={Link} href="/" aria-label="Agent Credential Gateway: overview">
              <Group gap="xs" wrap="nowrap">
                <Mark size={26} />
                <Text fw={650} visibleFrom="md">
                  Agent Credential Gateway
                </Text>
              </Group>
            </UnstyledButton>
          </Group>
          <Optional>
            <Suspense fallback={<Skeleton h={34} w={200} />}>
              <HeaderTools onSearch={() => setOverlay('palette')} onHelp={() => setOverlay('keys')} />
            </Suspense>
          </Optional>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Main">
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Banner />
        {children}
      </AppShell.Main>
      <Optional>
        <Suspense>
          {overlay === 'palette' && <Palette onClose={() => setOverlay(null)} />}
          {overlay === 'keys' && <KeyboardHelp onClose={() => setOverlay(null)} />}
        </Suspense>
      </Optional>
    </AppShell>
  );
}
