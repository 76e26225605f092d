import { Button, Card } from '@mantine/core';
import { Link } from 'wouter';
import { EmptyState } from '../components/feedback/empty-state.js';
import { PageHeader } from '../components/layout/page-header.js';

export const NotFoundPage = () => (
  <>
    <PageHeader title="Page not found" />
    <Card>
      <EmptyState
        title="This page does not exist"
        text="It may have moved, or the link is incomplete."
        action={
          <Button component={Link} href="/" variant="default">
            Go to overview
          </Button>
        }
      />
    </Card>
  </>
);
