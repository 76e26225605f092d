import { Button, Card } from '@mantine/core';
import { Link } from 'wouter';
import { Nothing } from '../parts/nothing.js';
import { PageHeader } from '../parts/page-header.js';

export const NotFound = () => (
  <>
    <PageHeader title="Not here" />
    <Card>
      <Nothing
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
