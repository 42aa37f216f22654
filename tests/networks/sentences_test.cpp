// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/sentences.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace dpsosp::networks::sentences_test {
namespace {

namespace fs = std::filesystem;

TEST(Sentences, AreLinesOfFourColumns) {
  const ScratchFolder folder;
  const std::string first = "gj04\t1\t\tThe book was written.",
                    second = "c_13\t0\t*\tB\xc3\xbcrger \"x\"";
  for (const std::string end : {"\n", "\r\n"}) {
    for (const std::string& last : {std::string(), end}) {
      const auto sentences = read_sentences(folder.write("a.tsv", first + end + second + last));
      ASSERT_EQ(sentences.size(), 2U);
      EXPECT_EQ(sentences[0].source, "gj04");
      EXPECT_EQ(sentences[0].label, 1);
      EXPECT_EQ(sentences[0].mark, "");
      EXPECT_EQ(sentences[0].text, "The book was written.");
      EXPECT_EQ(sentences[1].source, "c_13");
      EXPECT_EQ(sentences[1].label, 0);
      EXPECT_EQ(sentences[1].mark, "*");
      EXPECT_EQ(sentences[1].text, "B\xc3\xbcrger \"x\"") << "quotes are text";
    }
  }
}

TEST(Sentences, RefusesBadLineByItsNumber) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& text) {
    const fs::path file = folder.write("a.tsv", text);
    const std::string line = refusal([&] { read_sentences(file); });
    EXPECT_TRUE(line.starts_with(file.string())) << line;
    return line.substr(file.string().size());
  };
  const std::string good = "s\t1\t\tA.\n",
                    columns = ", expected 4 between tabs: source, label, mark, sentence";
  EXPECT_EQ(refused(""), ": is empty");
  EXPECT_EQ(refused(good + "s\t1\tA.\n"), ", line 2: 3 columns" + columns);
  EXPECT_EQ(refused(good + good + "s\t1\t\tA.\tB.\n"), ", line 3: 5 columns" + columns);
  EXPECT_EQ(refused(good + "\n" + good), ", line 2: 1 columns" + columns);
  EXPECT_EQ(refused("s\t2\t\tA.\n"), ", line 1: label = '2', expected 0 or 1");
  EXPECT_EQ(refused("s\t\t\tA.\n"), ", line 1: label = '', expected 0 or 1");
  EXPECT_EQ(refused("source\tlabel\tmark\tsentence\n"),
            ", line 1: label = 'label', expected 0 or 1");
  EXPECT_EQ(refused("s\t1\t\t\n"), ", line 1: the sentence is empty");
  EXPECT_EQ(refused(good + "s\t1\t\tB\xfcrger\n"), ", line 2: is not UTF-8");
}

TEST(Cola, IsThreeFilesOfThePublicRelease) {
  const ScratchFolder folder;
  folder.write("cola_public/raw/in_domain_train.tsv", "a\t1\t\tA.\nb\t0\t*\tB.\n");
  folder.write("cola_public/raw/in_domain_dev.tsv", "c\t1\t\tC.\n");
  folder.write("cola_public/raw/out_of_domain_dev.tsv", "d\t0\t\tD.\n");
  const Cola cola = read_cola(folder.path());
  ASSERT_EQ(cola.train.size(), 2U);
  EXPECT_EQ(cola.train[1].text, "B.");
  EXPECT_EQ(cola.in_domain.at(0).text, "C.");
  EXPECT_EQ(cola.out_of_domain.at(0).text, "D.");
}

TEST(Cola, SaysWhatTheUserHasToSupply) {
  const ScratchFolder folder;
  folder.write("cola_public/raw/in_domain_train.tsv", "a\t1\t\tA.\n");
  const fs::path raw = folder.path() / "cola_public/raw";
  EXPECT_EQ(refusal([&] { read_cola(folder.path()); }),
            "needs data: " + (raw / "in_domain_dev.tsv").string() +
                " is missing; put in_domain_train.tsv, in_domain_dev.tsv and out_of_domain_dev.tsv "
                "of CoLA's public release into " +
                raw.string());
}

}  // namespace
}  // namespace dpsosp::networks::sentences_test
