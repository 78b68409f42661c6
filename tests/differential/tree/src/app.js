const { readFile } = require('fs');

// TODO: use promises
function load(path, done) {
  readFile(path, 'utf8', (err, text) => {
    if (err) return done(err);
    done(null, JSON.parse(text));
  });
}

module.exports = { load };
console.log("loaded");
console.log('debug', 1);
