/** Shows the link of an invitation, which the inviter passes on when the gateway sends no e-mail. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../components/buttons/copy-button.js';

interface InvitationLinkDialogProps {
  /** Null: closed. */
  readonly url: string | null;
  readonly onClose: () => void;
}

export function InvitationLinkDialog({ url, onClose }: InvitationLinkDialogProps) {
  return (
    <Modal opened={url !== null} onClose={onClose} title="Share this link" size="lg">
      <Stack gap="md">
        <Text size="sm">
          The recipient joins the organization with this link. It works once and expires in seven days. “Resend
          invitation” creates a new link and revokes this one.
        </Text>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Code block className="acg-break-anywhere" flex={1}>
            {url}
          </Code>
          <CopyButton value={url ?? ''} label="Copy link" />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
