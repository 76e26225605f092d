/** Explains what each role can do. */
import { Card, Stack, Text, Title } from '@mantine/core';
import { ROLES } from './role-permissions.js';

export function RoleTable() {
  return (
    <Card component="section" aria-label="Roles">
      <Title order={2} mb="md">
        Roles
      </Title>
      <Stack component="dl" gap="sm" m={0}>
        {ROLES.map(({ role, may }) => (
          <div key={role}>
            <Text component="dt" size="sm" fw={600}>
              {role}
            </Text>
            <Text component="dd" size="sm" c="dimmed" m={0}>
              {may}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  );
}
