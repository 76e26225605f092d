import { Button, Card } from '@mantine/core';
import { Link } from 'wouter';
import { EmptyState } from '../components/feedback/empty-state.js';
import { PageHeader } from '../components/layout/page-header.js';

export const NotFoundPage = () => (
  <>
    <PageHeader title="Not here" />
    <Card>
      <EmptyState
        title="There is no page at this address"
        text="It may have moved, or the link was cut."
        action={
          <Button component={Link} href="/" variant="default">
            To the overview
          </Button>
        }
      />
    </Card>
  </>
);
