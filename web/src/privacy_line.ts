// What leaves a client of the run that is shown, and that nothing of it is proven safe.
import type { Run } from './data';
import { el, type Child } from './dom';

const guarantee = el.bind(null, 'strong', {});

function words(run: Run | null): Child[] {
  const encoded = guarantee('obfuscated features, no formal guarantee');
  if (run === null) {
    return [
      'What clients share differs from row to row: models, and with some methods features, of InstaHide encodings (',
      encoded,
      ') or of plain images (simulation only).',
    ];
  }
  switch (run.shares) {
    case 'encoded':
      return [
        'Features that clients share are of InstaHide encodings: ',
        encoded,
        '. Images never leave their owners.',
      ];
    case 'plain':
      return [
        'Features of plain images are shared, simulation only: ',
        guarantee('not even obfuscated, no formal guarantee'),
        '.',
      ];
    case 'none':
      return [
        'Clients share models and no features: ',
        guarantee('no formal guarantee'),
        ' either, since updates can reveal images.',
      ];
    case 'unknown':
      return [
        'What features clients share is not known of this run: of InstaHide encodings (',
        encoded,
        ') or of plain images (simulation only).',
      ];
    case 'maybe':
      return ['Clients share models, and where the method wants them features of InstaHide encodings: ', encoded, '.'];
  }
}

// `run`: null where tables of many runs are all there is.
export function showPrivacyLine(run: Run | null): void {
  document.getElementById('footer')!.replaceChildren(el('p', {}, ...words(run)));
}
