/** The tabs of a page. On phones, where they scroll, the open one is in view. */
import { Tabs, type TabsListProps } from '@mantine/core';
import { useLayoutEffect, useRef } from 'react';

interface TabListProps extends TabsListProps {
  /** The open tab. */
  readonly value: string;
}

export function TabList({ value, ...list }: TabListProps) {
  const element = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is open
  useLayoutEffect(() => {
    const tab = element.current?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (tab == null || element.current === null) return;
    element.current.scrollLeft = tab.offsetLeft - (element.current.clientWidth - tab.offsetWidth) / 2;
  }, [value]);
  return <Tabs.List ref={element} mb="lg" className="acg-tabs" {...list} />;
}
