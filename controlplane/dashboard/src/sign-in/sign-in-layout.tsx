/** Layout of the pages before login. */
import { Card, Center, Group, Stack, Text, Title } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { Logo } from '../components/layout/logo.js';

interface SignInLayoutProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
}

export function SignInLayout({ title, text, onSubmit, children, footer }: SignInLayoutProps) {
  useEffect(() => {
    document.title = `${title} · Agent Credential Gateway`;
  }, [title]);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Stack w="100%" maw={400} gap="lg">
        <Group gap="sm" justify="center">
          <Logo size={32} />
          <Text fw={650}>Agent Credential Gateway</Text>
        </Group>
        <Card padding="xl">
          <form
            onSubmit={(event: FormEvent) => {
              event.preventDefault();
              onSubmit();
            }}
          >
            <Stack gap="md">
              <Stack gap={4}>
                <Title order={1}>{title}</Title>
                {text !== undefined && (
                  <Text size="sm" c="dimmed">
                    {text}
                  </Text>
                )}
              </Stack>
              {children}
            </Stack>
          </form>
        </Card>
        {footer !== undefined && (
          <Text size="sm" ta="center">
            {footer}
          </Text>
        )}
      </Stack>
    </Center>
  );
}
