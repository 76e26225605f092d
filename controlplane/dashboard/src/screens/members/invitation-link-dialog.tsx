/** The link of an invitation, for the inviter to pass on while no mail leaves the gateway. */
import { Button, Code, Group, Modal, Stack, Text } from '@mantine/core';
import { CopyButton } from '../../components/buttons/copy-button.js';

interface InvitationLinkDialogProps {
  /** Null: closed. */
  readonly url: string | null;
  readonly onClose: () => void;
}

export function InvitationLinkDialog({ url, onClose }: InvitationLinkDialogProps) {
  return (
    <Modal opened={url !== null} onClose={onClose} title="Pass this link on" size="lg">
      <Stack gap="md">
        <Text size="sm">
          Whoever opens it joins the organization. It works once and for seven days; “Invite again” makes a new one and
          ends this.
        </Text>
        <Group gap="sm" wrap="nowrap" align="flex-start">
          <Code block className="acg-break" flex={1}>
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
