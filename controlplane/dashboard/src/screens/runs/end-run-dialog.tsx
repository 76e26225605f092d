import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { showToast } from '../../components/feedback/toast.js';
import { ConfirmDialog } from '../../components/forms/confirm-dialog.js';
import { formatSubRuns, type Run, refreshRuns, runName } from './fetch-runs.js';

export function EndRunDialog({ run, onClose }: { readonly run: Run; readonly onClose: () => void }) {
  const end = useMutation({
    mutationFn: () => api.delete('/v1/runs/{id}', { params: { path: { id: run.id } } }),
    onSuccess: () => {
      refreshRuns();
      onClose();
      showToast(`${runName(run)} ended`);
    },
  });
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={`End ${runName(run)}`}
      action="End run"
      pending={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate()}
    >
      The run, its {formatSubRuns(run.subRuns)} sub-runs and all below them end at once. Their calls in progress are
      aborted. This cannot be undone.
    </ConfirmDialog>
  );
}
