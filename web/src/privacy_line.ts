// What leaves a client of the run that is shown, and that nothing of it is proven safe.
import type { Run } from './data';
import { el, type Child } from './dom';

const guarantee = el.bind(null, 'strong', {});

function words(run: Run | null): Child[] {
  if (run === null) {
    return [
      'What clients share differs from row to row: models, and with some methods features of their images. ',
      guarantee('No formal guarantee.'),
    ];
  }
  if (run.shares === 'no') {
    return [
      'Clients share models and no features. ',
      guarantee('No formal guarantee: updates can reveal images.'),
    ];
  }
  const what = run.privacy?.sentence ?? 'What features clients share is not known of this run.';
  const start = run.shares === 'maybe' ? 'Clients share models, and features if the method wants them. If so: ' : '';
  return [start, what, ' ', guarantee('No formal guarantee.')];
}

// `run`: null where tables of many runs are all there is.
export function showPrivacyLine(run: Run | null): void {
  document.getElementById('footer')!.replaceChildren(el('p', {}, ...words(run)));
}
